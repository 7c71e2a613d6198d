import t from 'tap'
import { isLong, promiseOf, startTextTable } from '../support/text-table.ts'

// takes about 40 s

const { operations, attack } = await startTextTable(t)

for (const operation of operations.filter(isLong)) t.test(promiseOf(operation), t => attack(t, operation))
