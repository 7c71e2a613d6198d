import t from 'tap'
import type { ApiError } from '../../../../control-plane/foundation/web/server/errors.ts'
import {
  beginWithName,
  createReferenceResolver,
} from '../../../../control-plane/integrations/import-export/file/references.ts'

const OPS = { name: 'Ops', id: 'aa-1', writtenId: 'core_OPS' }
const OPS_OF_PROJECT = { name: 'Ops', id: 'bb-2' }
const find = createReferenceResolver(
  'channel',
  [OPS, { name: 'Twin', id: 'cc-3' }, { name: 'Twin', id: 'cc-4' }, { name: 'Refused', id: null }],
  [
    OPS_OF_PROJECT,
    ...[
      { name: 'Twin', id: 'dd-5' },
      { name: 'Refused', id: 'dd-6' },
    ],
    ...[
      { name: 'Old', id: 'ee-7' },
      { name: 'Pair', id: 'ff-8' },
      { name: 'Pair', id: 'ff-9' },
    ],
    { name: 'core_ops', id: 'gg-10' },
  ],
)

t.test('A name in the file is preferred to the same name in the rest of the project', async t => {
  t.equal(find('Ops', 'channel'), 'aa-1')
  t.equal(find('Refused', 'channel'), null, 'what refers to a refused entry does not get another record')
  t.equal(find('Old', 'channel'), 'ee-7', 'a name that is not in the file')
  t.equal(find('CORE_ops', 'channel'), 'aa-1', 'an id of the file, in any case')
  t.equal(find('core_ops', 'channel'), 'aa-1', 'an id of the file is preferred to a name of the project')
})

const getRefusal = (reference: string): string => {
  try {
    return `found ${find(reference, 'channel')}`
  } catch (error) {
    return (error as ApiError).extra.details?.[0]?.message ?? ''
  }
}

t.test('A name that several records have needs an id', async t => {
  t.match(getRefusal('Twin'), /is the name of 2 channels; use the id/)
  t.match(getRefusal('Pair'), /is the name of 2 channels; use the id/)
  t.match(getRefusal('Unknown'), /does not name a known channel/)
  t.equal(find('cc-4', 'channel'), 'cc-4')
  t.equal(find('bb-2', 'channel'), 'bb-2', 'the id of a record that is not in the file')
  t.equal(find('ff-9', 'channel'), 'ff-9')
})

t.test('A message begins with the name of its entry instead of the place in the file', async t => {
  const file = { monitors: [{ name: 'Shop: $& web' }, { name: '' }], maintenance_windows: [{ title: 'Move' }] }
  for (const [message, shown] of [
    ['monitors[0]: blocked_target: x', 'Shop: $& web: blocked_target: x'],
    ['monitors[0].rules[1]: unknown', 'Shop: $& web: rules[1]: unknown'],
    ['maintenance_windows[0]: too long', 'Move: too long'],
    ['monitors[1]: blocked', 'monitors[1]: blocked'],
    ['monitors[7]: blocked', 'monitors[7]: blocked'],
    ['the project is full', 'the project is full'],
  ] as const)
    t.equal(beginWithName(message, file), shown)
})
