import t from 'tap'
import { buildNotice } from '../../../control-plane/dashboard/browser/server/connection.ts'
import { NOW } from '../../support/dashboard-fixtures.ts'
import { nameScene, SCENES } from '../../support/dashboard-scenes.ts'
import { LOADED_SCREENS, renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

/** Screens that need no data: what they read only adds choices to a form. */
const WITHOUT_DATA = new Set([
  ...['/start', '/monitors/new', '/incidents/new', '/maintenance/new', '/pages/new', '/sources/new'],
  ...['/settings/channels/new', '/settings/alerts/messages'],
])
/** What screens with a list say while it is empty. */
const EMPTY: Record<string, string> = {
  '/': 'Nothing is monitored yet',
  '/monitors': 'There are no monitors yet.',
  '/monitors/:id': 'The status has not changed yet.',
  '/monitors/:id/settings': 'There is no channel yet, so no alerts are sent.',
  '/monitors/unalerted': 'There is no channel yet.',
  '/incidents': 'There has been no incident. When a monitor goes down, its incident appears here.',
  '/incidents/:id/postmortem': 'Nothing is written yet.',
  '/incidents/templates': 'There is no template. A text that is prepared saves time in an outage.',
  '/log': 'Nothing was sent yet. Deliveries appear here when a monitor with an alert channel changes its status.',
  '/log/relay': 'No delivery has gone through the relay. A webhook channel uses it when it has a relay_source_id.',
  '/settings/alerts': 'There is no channel that could receive them.',
  '/settings/channels': 'There is no channel. Without one, no alert about an outage is sent.',
  '/settings/import': 'No file was imported in the last day.',
  '/settings/import/:id': 'No entry matches.',
  '/sources': 'There is no data source. One JSON document can become up to 200 monitors.',
  '/dependencies': 'There is no dependency. Track the vendors that you rely on to see their incidents next to yours.',
  '/dependencies/new': 'No vendor of the catalog matches. Enter the address of its status page below.',
  '/dependencies/:id': 'The vendor has reported no incident since it is tracked.',
  '/pages': 'There is no status page. It shows visitors which systems work, without an account.',
  '/pages/:id/subscribers': 'There is no confirmed subscriber. Visitors subscribe on the page and confirm by a link.',
  '/maintenance': 'There is no maintenance window. During one, alerts are withheld and status pages show maintenance.',
  '/fleet': 'No probe has connected yet. Add one below.',
  '/settings/keys': 'There is no API key. Programs need one to use the API.',
  '/settings/audit': 'Nothing was changed yet. Changes by people and API keys appear here and stay for a year.',
  '/settings/chat': 'No team is connected. A connected team receives, acknowledges and lists incidents in its chat.',
  '/settings/wall': 'There is no link to a wallboard yet.',
}
/** Screens of a record, and of an organization that always has a member. */
const WITHOUT_EMPTY = new Set([
  ...['/incidents/:id', '/incidents/:id/edit', '/log/:id', '/maintenance/:id', '/pages/:id', '/pages/:id/domain'],
  ...['/pages/:id/embeds', '/settings', '/settings/channels/:id', '/settings/members', '/sources/:id'],
])

/** Besides the record, these screens read only what they have words for: the name of a channel, the numbers of what is deleted. */
const COMPLETE_WITHOUT = new Set(['/log/:id', '/settings/channels/:id'])

/** Reads without which a part has other words or less detail, by screen and name. */
const WORDS_WITHOUT: Record<string, readonly string[]> = {
  // monitors that are not up are listed without groups
  '/': ['addresses', 'dependencies'],
  // names of people and channels: their ids, or a general word
  '/incidents': ['members'],
  '/incidents/:id': ['members'],
  '/log': ['channels'],
  '/log/:id': ['channels'],
  '/log/relay': ['channels'],
  '/settings/alerts': ['members'],
  '/settings/audit': ['members', 'keys'],
  '/settings/keys': ['members'],
  '/pages/:id/subscribers': ['components'],
  // which regions have a probe: all regions can be chosen
  '/monitors/new': ['regions'],
  '/monitors/:id/settings': ['regions'],
  '/start': ['regions', 'channels'],
  // what is deleted with a record is listed without numbers
  '/settings/channels/:id': ['rules', 'subscriptions', 'dependencies', 'deliveries'],
  '/settings/members': ['keys'],
  '/settings/chat': ['channels', 'members'],
  '/pages/:id': ['subscribers'],
  // the API refuses a domain that the plan does not include
  '/pages/:id/domain': ['project'],
}

const REASON = 'temporarily unavailable.'
const listScenes = (name: string) => SCENES.filter(scene => scene.name === name)
/** The content of a page, without the frame around it. */
const show = (address: string, state: ScreenState) => {
  const [, html] = /<main[^>]*>(.*)<\/main>/s.exec(renderScreen(address, state).html)!
  return { html: html!, text: toText(html!) }
}
const count = (text: string, part: string | RegExp) => text.split(part).length - 1

t.test('Each screen with a list says that it is empty', t => {
  const expected = LOADED_SCREENS.map(({ path }) => path).filter(
    path => !WITHOUT_DATA.has(path) && !WITHOUT_EMPTY.has(path),
  )
  t.same(Object.keys(EMPTY).sort(), expected.sort(), 'every other screen')
  for (const { screen, address, state } of listScenes('empty'))
    if (EMPTY[screen.path]) t.ok(show(address, state).text.includes(EMPTY[screen.path]!), screen.path)
  t.end()
})

t.test('While a screen is loaded, each part that waits is a skeleton, and nothing is called missing or empty', t => {
  for (const { screen, address, state } of listScenes('full')) {
    const { html, text } = show(address, { ...state, loading: 'everything' })
    const skeletons = count(html, /class="(?:alone )?skeleton"/)
    if (WITHOUT_DATA.has(screen.path)) t.match(html, /<form|<h1/, screen.path)
    else t.ok(skeletons > 0, screen.path)
    t.equal(count(text, 'Loading'), skeletons, `${screen.path}: screen readers are informed`)
    t.notMatch(text, /cannot be shown|are from/, screen.path)
    t.notMatch(html, 'class="empty"', screen.path)
  }
  t.end()
})

t.test('Without its record each page is not available, says why, and tries again', t => {
  const scenes = listScenes('away')
  t.equal(scenes.length, LOADED_SCREENS.filter(({ record }) => record).length)
  for (const { screen, address, state } of scenes)
    t.match(
      show(address, state).text,
      `Not available This page cannot be shown: ${REASON} The page tries again by itself.`,
      screen.path,
    )
  t.end()
})

t.test('Data that cannot be read are named with the reason, and data of an earlier read stay with their age', t => {
  for (const { screen, address, state, ...scene } of listScenes('error')) {
    const name = nameScene({ screen, address, state, ...scene })
    const [failed, old] = [show(address, state), show(address, { ...state, isOld: true })]
    const [missing, aged] = [
      count(failed.text, `cannot be shown: ${REASON}`),
      count(old.text, `are from 1 min ago : ${REASON}`),
    ]
    const whole = show(address, { ...state, errors: {} })
    t.notMatch(whole.text, REASON, name)
    t.notMatch(old.text, 'cannot be shown', name)
    // a page whose only read is its record, or that needs none, has nothing else that could be missing
    const isComplete = WITHOUT_DATA.has(screen.path) || COMPLETE_WITHOUT.has(screen.path) || failed.text === whole.text
    t.equal(missing > 0, !isComplete, name)
    t.equal(aged > 0, !isComplete, name)
    if (!screen.record && !WITHOUT_DATA.has(screen.path)) t.ok(missing > 0, name)
    t.match(failed.html, '<h1', `${name}: the rest of the page is there`)
  }
  t.end()
})

t.test('Each read that fails alone is named once, with the reason', t => {
  for (const { screen, address, state } of listScenes('full')) {
    const { queries } = renderScreen(address, state)
    const without = WORDS_WITHOUT[screen.path] ?? []
    t.same(
      without.filter(name => !queries.includes(name)),
      [],
      `${screen.path}: exceptions are reads of it`,
    )
    for (const name of queries) {
      if (name === screen.record || name === 'unalerted') continue
      const failed = { [name]: { status: 503, code: 'unavailable', message: 'temporarily unavailable' } }
      const expected = without.includes(name) ? 0 : 1
      const sentences = count(show(address, { ...state, failed }).text, `cannot be shown: ${REASON}`)
      t.equal(sentences, expected, `${screen.path} without ${name}`)
      const aged = count(show(address, { ...state, failed, isOld: true }).text, `are from 1 min ago : ${REASON}`)
      t.equal(aged, expected, `${screen.path} with an earlier ${name}`)
    }
  }
  t.end()
})

t.test('Without contact for 30 seconds every page looks old and says since when', t => {
  const noticeAt = (silentMs: number) => {
    const contact = { loss: null, lastContactMs: NOW - silentMs, awaitedSinceMs: NOW - silentMs }
    return buildNotice(contact as never, { nowMs: NOW, timeZone: 'UTC' } as never, '/')
  }
  t.equal(noticeAt(29_999), null)
  const notice = noticeAt(30_000)!
  for (const { screen, address, state } of listScenes('full')) {
    const { html } = renderScreen(address, { ...state, notice })
    t.match(html, '<div class="frame old">', screen.path)
    t.match(toText(html), 'No contact with the server since 14:05:00. What you see is from that time.', screen.path)
    t.notMatch(renderScreen(address, state).html, 'class="frame old"', screen.path)
  }
  t.end()
})
