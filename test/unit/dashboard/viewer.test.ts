import t from 'tap'
import { describePageDeletion } from '../../../control-plane/dashboard/screens/pages/editor/publication.tsx'
import { VIEWER } from '../../support/dashboard-fixtures.ts'
import { FULL, RECORD_ID, SCENES } from '../../support/dashboard-scenes.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'
import { buildPage } from '../../support/page-records.ts'

const cutMain = (html: string) => html.slice(html.indexOf('<main'), html.indexOf('</main>'))

/** The fields and buttons that can be used, without those of forms that lead to an address, such as filters. */
function listControls(html: string): string[] {
  const found: string[] = []
  const disabled: boolean[] = []
  let isLink = false
  for (const [tag, end, name, attributes] of html.matchAll(
    /<(\/?)(form|fieldset|button|input|select|textarea)\b([^>]*)>/g,
  )) {
    if (name === 'form') isLink = !end && /\saction=/.test(attributes!) && !/\smethod="post"/.test(attributes!)
    else if (name === 'fieldset') end ? disabled.pop() : disabled.push(/\sdisabled/.test(attributes!))
    else if (!end && !isLink && !disabled.includes(true) && !/\sdisabled/.test(attributes!)) found.push(tag)
  }
  return found
}

/** Controls that change what is shown, and nothing else. */
const SHOWS_ONLY: Record<string, RegExp> = {
  '/monitors/:id': /aria-label="Time in the charts"/,
  // copies the command of the request
  '/log/:id': /<button type="button">$/,
  // the width, the colours and the data of the preview
  '/pages/:id': /aria-pressed=/,
  // the options of a snippet, and the buttons that copy it
  '/pages/:id/embeds': /type="button"|<select|id="field-hidden"/,
  // the theme of the person
  '/settings': /<button type="button">$/,
}

t.test('A viewer sees every screen, can change nothing, and reads which role is needed', async t => {
  const scenes = SCENES.filter(({ name, screen }) => name === 'full' && screen.path !== '/fleet')
  t.ok(scenes.length > 40, `${scenes.length} screens`)
  for (const { screen, address, state } of scenes) {
    const viewer = cutMain(renderScreen(address, { ...state, me: VIEWER }).html)
    const usable = listControls(viewer).filter(tag => !SHOWS_ONLY[screen.path]?.test(tag))
    t.same(usable, [], `${screen.path}: nothing can be changed`)
    const admin = listControls(cutMain(renderScreen(address, state).html)).length
    if (admin > listControls(viewer).length)
      t.match(toText(viewer), /needs the role (editor|admin)\. Your role is viewer\./, `${screen.path} names the role`)
  }
})

t.test('The form that deletes a channel or a page lists what is deleted with it, with numbers', async t => {
  const show = (address: string, answers: object) =>
    toText(renderScreen(address, { ...FULL, answers: { ...FULL.answers, ...answers } as typeof FULL.answers }).html)
  const channel = FULL.answers!.readAlertChannel!.data
  const address = `/settings/channels/${channel.id}`
  const buildList = (ids: string[], total = ids.length) => ({
    data: ids.map((id, i) => ({ id: String(i), alert_channel_id: id })),
    meta: { page: 1, per_page: 100, total, total_pages: 1 },
  })
  const lists = {
    listAlertRules: buildList([channel.id, 'other', channel.id]),
    listAlertProjectChannels: buildList(['other', channel.id]),
    listDependencies: {
      ...buildList([]),
      data: [{ overrides: buildList(['other', channel.id]).data }, { overrides: [] }],
    },
    listAlertLog: buildList([channel.id], 1_234),
  }
  t.match(
    show(address, lists),
    'Its 2 alert rules, 1 subscription, 1 override of dependencies and 1,234 records of the log are deleted too.',
  )
  const many = { ...lists, listAlertRules: buildList([channel.id, 'other'], 400) }
  t.match(show(address, many), 'Its at least 1 alert rule, 1 subscription, ')
  const readAs = (me: typeof VIEWER) => renderScreen(address, { ...FULL, me }).queries
  t.same(readAs(VIEWER), ['channel'], 'a viewer needs no numbers')
  t.ok(readAs({ ...VIEWER, scope: 'write', role: 'editor' }).includes('dependencies'))

  const page = show(`/pages/${RECORD_ID}`, {
    listStatusPageSubscribers: { ...buildList([], 12), meta: { ...buildList([], 12).meta, email: 12, webhook: 0 } },
  })
  t.match(page, /Its 2 components, 1 group, images and 12 subscribers are deleted too; monitors and incidents stay\./)
  t.match(
    describePageDeletion(buildPage(), { groups: null, subscribers: null }),
    /components, groups, images and subscribers are deleted too/,
    'numbers that could not be read are left out',
  )
})
