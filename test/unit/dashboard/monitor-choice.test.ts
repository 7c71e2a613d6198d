import t from 'tap'
import { describeNone } from '../../../control-plane/dashboard/parts/monitors/monitor-choice.tsx'

t.test('A failed read is not shown as a list without monitors', async t => {
  const none = { isRead: false, isFailed: false, areAllChosen: false }
  t.equal(describeNone(none), 'Reading the monitors …')
  t.match(describeNone({ ...none, isFailed: true }), 'The monitors cannot be read now.')
  t.equal(describeNone({ ...none, isRead: true }), 'No monitor matches.')
  t.equal(describeNone({ ...none, isRead: true, areAllChosen: true }), 'All of them are chosen.')
})
