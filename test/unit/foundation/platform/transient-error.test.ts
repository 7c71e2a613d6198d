import t from 'tap'
import { DecryptionError } from '../../../../control-plane/foundation/platform/crypto/decryption-error.ts'
import { UnknownCommitError } from '../../../../control-plane/foundation/platform/postgres/commit-outcome.ts'
import { StandbyError } from '../../../../control-plane/foundation/platform/postgres/read-only.ts'
import { isTransientError } from '../../../../control-plane/foundation/platform/postgres/transient-error.ts'

const withCode = (code: string) => Object.assign(new Error('failed'), { code })

const ROWS: [title: string, error: Error, expected: boolean][] = [
  ...['08006', '25006', '40001', '40P01', '53300', '55P03', '57P01', '57014', 'ECONNRESET', 'ETIMEDOUT'].map(
    (code): (typeof ROWS)[number] => [`code ${code}`, withCode(code), true],
  ),
  ...['22021', '23505', '42703', 'P0001', 'ERR_INVALID_ARG_VALUE'].map((code): (typeof ROWS)[number] => [
    `code ${code}`,
    withCode(code),
    false,
  ]),
  ['a standby', new StandbyError(), true],
  ['a commit whose outcome is unknown', new UnknownCommitError(null), true],
  ['a connection that ended', new Error('Connection terminated unexpectedly'), true],
  ['a closed connection', new Error('Client was closed and is not queryable'), true],
  ['a pool without a free connection', new Error('Knex: Timeout acquiring a connection.'), true],
  ['a value that does not decrypt', new DecryptionError('SECRET_KEY does not decrypt this value'), false],
  ['an error in the code', new TypeError("Cannot read properties of undefined (reading 'connection')"), false],
]

for (const [title, error, expected] of ROWS) {
  t.test(`${title} is ${expected ? '' : 'not '}transient`, async t => {
    t.equal(isTransientError(error), expected)
  })
}
