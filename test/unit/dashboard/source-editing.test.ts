import t from 'tap'
import {
  type FieldForm,
  NEW_FIELD,
  toProposedForm,
} from '../../../control-plane/dashboard/screens/integrations/sources/form/field-form.ts'
import { moveTyped } from '../../../control-plane/dashboard/screens/integrations/sources/form/source-editing.ts'
import { EMPTY_SOURCE } from '../../../control-plane/dashboard/screens/integrations/sources/form/source-form.ts'

const rule = (path: string, place: number, id: string | null = null): FieldForm => ({
  ...toProposedForm({ ...NEW_FIELD, path }, place),
  id,
})
const formOf = (...fields: FieldForm[]) => ({ ...EMPTY_SOURCE, name: 'Platform', fields })

// the first rule is stored, the second is new, the third is proposed
const SENT = { form: formOf(rule('a', 0, 'A'), rule('b', 3)), proposed: rule('c', 4) }
const SAVED = formOf(rule('a', 0, 'A'), rule('b', 1, 'B'), rule('c', 2, 'C'))

t.test('Without further changes the form of a data source shows what was saved', async t => {
  t.same(moveTyped(SENT, SAVED, SENT.form), SAVED)
  t.same(moveTyped(SENT, SAVED, { ...SENT.form, name: 'Typed' }), { ...SAVED, name: 'Typed' })
})

t.test('Rules that are typed while others are saved stay, and those that were saved have their ids', async t => {
  const typed = formOf(rule('a.typed', 0, 'A'), rule('b', 3), rule('d', 4))
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
    moveTyped(SENT, SAVED, formOf(rule('b', 3))).fields.map(({ id }) => id),
    ['B', 'C'],
    'a rule that was removed meanwhile stays away',
  )
})
