import t from 'tap'
import { buildFormErrors } from '../../../control-plane/dashboard/parts/forms/field-errors.ts'
import { describeNone, MonitorChoice } from '../../../control-plane/dashboard/parts/monitors/monitor-choice.tsx'
import { buildRow, NOW } from '../../support/dashboard-fixtures.ts'
import { findElement, fire } from '../../support/elements.ts'
import { runHook } from '../../support/run-hook.ts'

t.test('A failed read is not shown as a list without monitors', async t => {
  const none = { isRead: false, isFailed: false, areAllChosen: false, isAll: false }
  t.equal(describeNone(none), 'Reading the monitors …')
  t.match(describeNone({ ...none, isFailed: true }), 'The monitors cannot be read now.')
  t.equal(describeNone({ ...none, isRead: true }), 'No monitor matches.')
  t.equal(describeNone({ ...none, isRead: true, isAll: true }), 'There is no monitor yet.')
  t.equal(describeNone({ ...none, isRead: true, areAllChosen: true }), 'All of them are chosen.')
})

t.test('Enter adds the monitors that a query finds, and none while the query is empty or not complete', async t => {
  const rows = ['Shop', 'Shop search', 'Blog'].map(name => buildRow({ id: name, name }))
  const added: (readonly string[])[] = []
  const choice = runHook(t, {
    hook: MonitorChoice,
    props: {
      ...{ path: 'monitor_ids', legend: 'Monitors', hint: '', max: 1_000, ids: [], errors: buildFormErrors([]) },
      onChange: (ids: readonly string[]) => added.push(ids),
    },
    frame: { nowMs: NOW, findMonitors: async () => ({ rows }) as never },
  })
  const find = (type: string) => findElement(choice.current, type)
  const type = async (text: string) => {
    fire(find('input'), 'onInput', { currentTarget: { value: text } })
    await choice.waitUntil(() => find('input').props.value === text, text)
  }
  const addByEnter = () => {
    let isSent = true
    added.length = 0
    fire(find('input'), 'onKeyDown', {
      key: 'Enter',
      preventDefault: () => {
        isSent = false
      },
    })
    t.notOk(isSent, 'the form is not sent')
    return added.flat()
  }
  await choice.waitUntil(() => find('button').props.disabled === false, 'the monitors')
  t.equal(find('button').props.children, 'Add all')
  t.same(addByEnter(), [], 'without a text')
  for (const text of ['  ', 'is:', 'shop is:', 'shop tag:"live']) {
    await type(text)
    t.same(addByEnter(), [], text)
  }
  t.ok(find('button').props.disabled, 'the button adds nothing either')
  await type('shop')
  t.same(addByEnter(), ['Shop', 'Shop search'])
})
