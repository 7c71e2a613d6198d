import t from 'tap'
import { buildCurrentVotes } from '../../support/dashboard-answers.ts'
import { ago, buildBoard } from '../../support/dashboard-fixtures.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'

const SENTENCE = 'Results of checks have not been read since 21 Nov 2026, 13:45:30 UTC : statuses are from then.'

t.test('Overview, list and monitor say since when results are not read', async t => {
  const show = (address: string, since: string | null) => {
    const board = buildBoard([{ name: 'Shop' }], { unread_since: since })
    const answers = { listMonitorVotes: { data: buildCurrentVotes({ unread_since: since }) } }
    return toText(renderScreen(address, { board, answers }).html)
  }
  for (const address of ['/', '/monitors', '/monitors?group=tag', '/monitors/m1']) {
    t.match(show(address, ago(20)), SENTENCE, address)
    t.notMatch(show(address, null), 'have not been read', address)
  }
})
