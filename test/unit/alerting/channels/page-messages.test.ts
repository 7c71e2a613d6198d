import t from 'tap'
import { toPageNotice } from '../../../../control-plane/alerting/channels/notices/page-notice.ts'
import type { MailContent } from '../../../../control-plane/alerting/channels/registry.ts'
import { getSubscriberKind } from '../../../../control-plane/alerting/channels/subscribers/subscriber-kinds.ts'
import {
  buildConfirmUrl,
  buildManageUrl,
  isValidConfirmToken,
  isValidManageToken,
} from '../../../../control-plane/alerting/channels/subscribers/subscriber-links.ts'
import type { PageIncidentChange, PageNoticeData } from '../../../../control-plane/alerting/events/page-event.ts'
import { CONTEXT } from '../../../support/channel-events.ts'
import { compareGolden } from '../../../support/golden.ts'
import { HOSTILE_TEXTS } from '../../../support/hostile-texts.ts'
import { hostilePageMessages, PAGE_MESSAGES, SUBSCRIBER, SUBSCRIBER_CONFIGS } from '../../../support/page-messages.ts'

const TYPES = Object.entries(SUBSCRIBER_CONFIGS)

for (const [type, config] of TYPES) {
  t.test(`${type} renders each message to subscribers as reviewed`, async t => {
    const { render } = getSubscriberKind(type)
    for (const [name, message] of Object.entries(PAGE_MESSAGES)) {
      compareGolden(t, type, name, render(message, SUBSCRIBER, config, CONTEXT))
    }
  })
}

t.test('Text from users is text in an email to subscribers', async t => {
  const { render } = getSubscriberKind('page_mail')
  const renderContent = (message: (typeof PAGE_MESSAGES)[string]) =>
    JSON.parse(render(message, SUBSCRIBER, SUBSCRIBER_CONFIGS.page_mail, CONTEXT).body.toString('utf8')) as MailContent
  const parseTags = (html: string) => new Set([...html.matchAll(/<\/?([a-z0-9!]+)/gi)].map(([, tag]) => tag))
  const expectedTags = new Set(
    Object.values(PAGE_MESSAGES).flatMap(message => [...parseTags(renderContent(message).html)]),
  )
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    for (const message of hostilePageMessages(text)) {
      const { html, subject, text: plain, message_id: id } = renderContent(message)
      t.same(
        [...parseTags(html)].filter(tag => !expectedTags.has(tag)),
        [],
        name,
      )
      for (const [, href] of html.matchAll(/href="([^"]*)"/g)) t.match(href, /^https:\/\/status\.acme\.example\.com\//)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
      t.notMatch(subject + id, /[\x00-\x1f\x7f]/)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
      t.notMatch(plain, /[\x00-\x09\x0b-\x1f\x7f\u202e]/)
    }
  }
})

t.test('Several changes are counted by incident, and show the last one of each', async t => {
  const { page, changes } = PAGE_MESSAGES.several!.data as PageNoticeData
  const [change] = changes as PageIncidentChange[]
  const buildChange = (id: string, status: string) =>
    ({ ...change, incident: { ...change!.incident, id, title: `Incident ${id}`, status } }) as PageIncidentChange
  const buildNotice = (...sent: PageIncidentChange[]) => toPageNotice({ page, changes: sent })
  const [openA, openB, endA, endB] = [
    buildChange('a', 'investigating'),
    buildChange('b', 'investigating'),
    buildChange('a', 'resolved'),
    buildChange('b', 'resolved'),
  ]
  const over = buildNotice(openA, openB, endA, endB)
  t.match(over.notice, { title: '2 incidents changed', tone: 'up' })
  t.match(over.lines, [
    { name: 'Incident a', status: 'resolved' },
    { name: 'Incident b', status: 'resolved' },
  ])
  t.match(buildNotice(openA, endA), { notice: { title: 'Incident a', tone: 'up' }, lines: [] })
  t.match(buildNotice(endA, openB).notice.title, '2 incidents changed')
  t.not(buildNotice(endA, openB).notice.tone, 'up')
})

t.test('Masked configurations contain neither the address nor the key of the links', async t => {
  for (const [type, config] of TYPES) {
    const { mask, render } = getSubscriberKind(type)
    const shown = render(PAGE_MESSAGES.confirmation!, SUBSCRIBER, mask(config), CONTEXT)
    t.notMatch(JSON.stringify(mask(config)), /ann@|token=1|a key/)
    t.notMatch(shown.url, /ann@|token=1/)
  }
})

t.test('A link works for its own subscriber, purpose and time only', async t => {
  const [ann, ben] = [
    { id: 'ann', key: 'one' },
    { id: 'ann', key: 'two' },
  ]
  const until = '2026-08-02T12:00:00.000Z'
  const [before, after] = [new Date('2026-08-02T11:59:59Z'), new Date('2026-08-02T12:00:00Z')]
  const parseToken = (url: string) => new URL(url).searchParams.get('token') ?? ''
  const manage = parseToken(buildManageUrl('https://a.example', ann))
  const confirm = parseToken(buildConfirmUrl('https://a.example', ann, until))
  t.ok(isValidManageToken(ann, manage))
  t.ok(isValidConfirmToken(ann, until, confirm, before))
  for (const token of ['', manage.slice(1), `${manage}=`, confirm]) t.notOk(isValidManageToken(ann, token))
  t.notOk(isValidManageToken(ben, manage))
  t.notOk(isValidConfirmToken(ann, until, confirm, after), 'it has expired')
  t.notOk(isValidConfirmToken(ann, '2027-08-02T12:00:00.000Z', confirm, before), 'the time cannot be changed')
  t.notOk(isValidConfirmToken(ann, 'never', confirm, before))
  t.notOk(isValidConfirmToken(ann, until, manage, before))
})

t.test('After 200 line breaks of an update, an email has spaces in its HTML, and line breaks in its text', async t => {
  const { page, changes } = PAGE_MESSAGES.several!.data as PageNoticeData
  const [change] = changes as PageIncidentChange[]
  const message = Array.from({ length: 2_000 }, (_, i) => i).join('\n')
  const update = { id: 'u1', status: 'identified', created_at: change!.at, ...change!.update, message }
  const data: PageNoticeData = { page, changes: [{ ...change!, update }] }
  const long = { ...PAGE_MESSAGES.several!, data } as (typeof PAGE_MESSAGES)[string]
  const { body } = getSubscriberKind('page_mail').render(long, SUBSCRIBER, SUBSCRIBER_CONFIGS.page_mail, CONTEXT)
  const { html, text } = JSON.parse(body.toString('utf8')) as MailContent
  t.match(html, '198<br/>199<br/>200 201 202')
  t.match(html, '1998 1999<')
  t.match(text, '\n1998\n1999\n')
})
