import t from 'tap'
import {
  type FieldForm,
  NEW_FIELD,
  toProposedForm,
} from '../../../control-plane/dashboard/screens/integrations/sources/form/field-form.ts'
import {
  moveToStored,
  moveTyped,
  useSourceEditing,
} from '../../../control-plane/dashboard/screens/integrations/sources/form/source-editing.ts'
import {
  EMPTY_SOURCE,
  type SourceRecord,
} from '../../../control-plane/dashboard/screens/integrations/sources/form/source-form.ts'
import { STORED_SOURCE } from '../../support/integration-answers.ts'
import { runHook } from '../../support/run-hook.ts'
import type { Teardown } from '../../support/teardown.ts'

const rule = (path: string, place: number, id: string | null = null): FieldForm => ({
  ...toProposedForm({ ...NEW_FIELD, path }, place),
  id,
})
const buildForm = (...fields: FieldForm[]) => ({ ...EMPTY_SOURCE, name: 'Platform', fields })

// the first rule is stored, the second is new, the third is proposed
const SENT = { form: buildForm(rule('a', 0, 'A'), rule('b', 3)), proposed: rule('c', 4) }
const SAVED = buildForm(rule('a', 0, 'A'), rule('b', 1, 'B'), rule('c', 2, 'C'))

t.test('Without further changes the form of a data source shows what was saved', async t => {
  t.same(moveTyped(SENT, SAVED, SENT.form), SAVED)
  t.same(moveTyped(SENT, SAVED, { ...SENT.form, name: 'Typed' }), { ...SAVED, name: 'Typed' })
})

t.test('Rules that are typed while others are saved stay, and those that were saved have their ids', async t => {
  const typed = buildForm(rule('a.typed', 0, 'A'), rule('b', 3), rule('d', 4))
  const { fields } = moveTyped(SENT, SAVED, typed)
  t.same(
    fields.map(({ id, path }) => [id, path]),
    [
      ['A', 'a.typed'],
      ['B', 'b'],
      [null, 'd'],
      ['C', 'c'],
    ],
    'no rule is stored twice, and none is removed by the next save',
  )
  t.equal(new Set(fields.map(({ place }) => place)).size, fields.length, 'each row has a place of its own')
  t.same(
    moveTyped(SENT, SAVED, buildForm(rule('b', 3))).fields.map(({ id }) => id),
    ['B', 'C'],
    'a rule that was removed meanwhile stays away',
  )
})

/** The form of a stored data source. `store`: another person stores these changes, and the page reads them. */
function openSource(t: Teardown) {
  const source: SourceRecord = { ...STORED_SOURCE, updated_at: '2026-11-20T10:00:00.000Z' }
  const editing = runHook(t, {
    hook: (props: { source: SourceRecord }) => useSourceEditing(props.source),
    props: { source },
  })
  const store = (part: Partial<SourceRecord>) =>
    editing.update({ source: { ...source, updated_at: '2026-11-20T11:00:00.000Z', ...part } })
  return { source, editing, store }
}

t.test('When two people change a data source, one keeps their own changes and those of the other', async t => {
  const { source, editing, store } = openSource(t)
  editing.current.change({ name: 'Mine' })
  await editing.waitUntil(({ hasChanges }) => hasChanges, 'a change')
  store({ fetch_interval_s: 300, description: 'Theirs' })
  await editing.waitUntil(({ isForeign }) => isForeign, 'the question')
  t.notOk(editing.current.canSave, 'nothing is saved before a choice')
  editing.current.keepChanges()
  await editing.waitUntil(({ canSave }) => canSave, 'the own changes on what is stored')
  t.match(editing.current.form, { name: 'Mine', fetch_interval_s: '300', description: 'Theirs', url: source.url })
  t.same(editing.current.update, { name: 'Mine' }, 'only the own change is sent')
  t.notOk(editing.current.isForeign)
})

t.test('Rules that another person added stay, and a rule that they removed is not sent with its old id', async t => {
  const before = buildForm(rule('a', 0, 'A'), rule('b', 1, 'B'), rule('c', 2, 'C'))
  const theirs = buildForm(rule('a.theirs', 0, 'A'), rule('d', 1, 'D'))
  const read = (mine: typeof before) => {
    const { fields } = moveToStored(before, theirs, mine)
    t.equal(new Set(fields.map(({ place }) => place)).size, fields.length, 'each row has a place of its own')
    return fields.map(({ id, path }) => [id, path])
  }
  const stored = [
    ['A', 'a.theirs'],
    ['D', 'd'],
  ]
  t.same(read(before), stored, 'nothing was typed')
  t.same(
    read(buildForm(rule('a', 0, 'A'), rule('b', 1, 'B'), rule('c.mine', 2, 'C'), rule('e', 3))),
    [stored[0], [null, 'c.mine'], [null, 'e'], stored[1]],
    'a changed rule and a new one',
  )
  t.same(read(buildForm(rule('b', 1, 'B'), rule('c', 2, 'C'))), [stored[1]], 'a rule that is removed here stays away')
})

t.test('The form of a data source in which nothing was changed follows what another person stores', async t => {
  const { editing, store } = openSource(t)
  store({ name: 'Theirs' })
  await editing.waitUntil(({ form }) => form.name === 'Theirs', 'the name of the other person')
  t.notOk(editing.current.isForeign, 'there is nothing to choose')
  t.notOk(editing.current.hasChanges)
})
