import t from 'tap'
import { toPublicMessage, toPublicTitle } from '../../../control-plane/pages/core/incident-names.ts'
import { formatOutageTitle, formatRecoveryMessage } from '../../../control-plane/verdict/incidents/lifecycle.ts'

// docs/design/status-pages.md#overall-status

const CAUSE = { monitorName: 'web-01.internal', componentName: 'Shop' }

t.test('Texts that Picket wrote name the component; texts of people stay as they are', t => {
  t.equal(toPublicTitle(formatOutageTitle('web-01.internal'), CAUSE), 'Shop is down')
  t.equal(toPublicTitle(formatOutageTitle('x'.repeat(300)), { ...CAUSE, monitorName: 'x'.repeat(300) }), 'Shop is down')
  t.equal(
    toPublicMessage(formatRecoveryMessage('web-01.internal', '4 minutes 12 seconds'), CAUSE),
    'Shop is up again after 4 minutes 12 seconds.',
  )
  for (const text of ['We lost the database', 'web-01.internal is slow', 'Resolved because the monitor was paused.']) {
    t.equal(toPublicTitle(text, CAUSE), text)
    t.equal(toPublicMessage(text, CAUSE), text)
  }
  t.equal(
    toPublicTitle('web-01.internal is down', null),
    'web-01.internal is down',
    'a monitor that is not on the page',
  )
  t.equal(toPublicMessage('web-01.internal is up again after 3 s.', null), 'web-01.internal is up again after 3 s.')
  t.end()
})
