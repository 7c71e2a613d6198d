import t from 'tap'
import { describePromise, isLong, startTextTable } from '../support/text-table.ts'

// takes about 40 s

const { operations, attack } = await startTextTable(t)

for (const operation of operations.filter(isLong)) t.test(describePromise(operation), t => attack(t, operation))
