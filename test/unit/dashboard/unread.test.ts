import t from 'tap'
import { votesNowOf } from '../../support/dashboard-answers.ts'
import { ago, boardOf } from '../../support/dashboard-fixtures.ts'
import { renderScreen, textOf } from '../../support/dashboard-screens.tsx'

const SENTENCE = 'Results of checks have not been read since 21 Nov 2026, 13:45:30 UTC : statuses are from then.'

t.test('Overview, list and monitor say since when results are not read', async t => {
  const show = (address: string, since: string | null) => {
    const board = boardOf([{ name: 'Shop' }], { unread_since: since })
    const answers = { listMonitorVotes: { data: votesNowOf({ unread_since: since }) } }
    return textOf(renderScreen(address, { board, answers }).html)
  }
  for (const address of ['/', '/monitors', '/monitors?group=tag', '/monitors/m1']) {
    t.match(show(address, ago(20)), SENTENCE, address)
    t.notMatch(show(address, null), 'have not been read', address)
  }
})
