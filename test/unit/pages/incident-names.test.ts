import t from 'tap'
import { formatDuration } from '../../../control-plane/alerting/events/duration.ts'
import { toPublicMessage, toPublicTitle } from '../../../control-plane/pages/core/incident-names.ts'
import {
  ARCHIVED_MESSAGE,
  DELETED_MESSAGE,
  formatOutageTitle,
  formatRecoveryMessage,
  PAUSED_MESSAGE,
  UNCHECKED_MESSAGE,
} from '../../../control-plane/verdict/incidents/lifecycle.ts'

// docs/design/status-pages.md#overall-status

const CAUSE = { outageTitle: formatOutageTitle('web-01.internal'), componentName: 'Shop' }

t.test('Texts that Picket wrote name the component; texts of people stay as they are', t => {
  t.equal(toPublicTitle('web-01.internal is down', CAUSE), 'Shop is down')
  for (const [name, ms, expected] of [
    ['web-01.internal', 252_000, 'Shop is up again after 4 minutes 12 seconds.'],
    ['web-02.internal', 252_000, 'Shop is up again after 4 minutes 12 seconds.'],
    ['a name\nwith two lines', 3 * 86_400_000, 'Shop is up again after 3 days.'],
    ['x is up again after 1 day.', 200, 'Shop is up again after 0 seconds.'],
  ] as const)
    t.equal(toPublicMessage(formatRecoveryMessage(name, formatDuration(ms)), CAUSE), expected)
  for (const text of [
    'We lost the database',
    'web-01.internal is slow',
    'The till is up again after the repair.',
    'It is up again after 4 minutes. Sorry.',
  ]) {
    t.equal(toPublicTitle(text, CAUSE), text)
    t.equal(toPublicMessage(text, CAUSE), text)
  }
  t.equal(toPublicMessage(PAUSED_MESSAGE, CAUSE), 'Resolved because the monitoring of Shop was paused.')
  for (const text of [DELETED_MESSAGE, ARCHIVED_MESSAGE, UNCHECKED_MESSAGE]) {
    t.equal(toPublicMessage(text, CAUSE), 'Resolved because Shop is not monitored any more.')
    t.equal(toPublicMessage(text, null), text, 'a text of a person')
  }
  t.equal(toPublicTitle('web-01.internal is down', null), 'web-01.internal is down', 'an incident of a person')
  t.equal(toPublicMessage('Shop is up again after 3 seconds.', null), 'Shop is up again after 3 seconds.')
  t.end()
})
