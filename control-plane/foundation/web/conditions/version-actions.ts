import { type Db, type Tx, withTransactionSteps } from '../../platform/postgres/client.ts'
import { notFound, preconditionFailed } from '../server/errors.ts'
import type { RequestVersion } from './record-version.ts'
import { findTag, listCreatedTags, lockRecord } from './version-store.ts'

/** The version of each transaction, and whether it was checked in it. */
const requested = new WeakMap<Tx, { version: RequestVersion; isChecked: boolean }>()

/**
 * The same database. The first transaction on it refuses another version than the one that the request names, while the row is
 * locked; each of them notes the version that it leaves.
 */
export const withRequestVersion = (db: Db, version: RequestVersion): Db =>
  withTransactionSteps(
    db,
    async tx => {
      const isChecked = version.accepted === null || version.isPassed
      requested.set(tx, { version, isChecked })
      if (isChecked || version.record.isCheckedByAction || !version.key) return
      await lockRecord(tx, version, version.key)
      await assertRequestVersion(tx)
    },
    async tx => {
      version.isPassed = requested.get(tx)!.isChecked
      if (!version.isPassed) throw new Error('a transaction did not check If-Match')
      if (version.key) version.tag = await findTag(tx, version.record, version.key)
      else version.created = await listCreatedTags(tx, version.record, version.since)
    },
  )

/**
 * Throws 412 when the record of the request, whose row is locked, has another version than the request names, and 404 when it
 * does not exist.
 */
export async function assertRequestVersion(tx: Tx): Promise<void> {
  const state = requested.get(tx)
  if (!state || state.isChecked) return
  state.isChecked = true
  const { version } = state
  const accepted = version.accepted ?? []
  const tag = version.key && (await findTag(tx, version.record, version.key))
  if (tag === null) throw notFound(version.record.noun)
  if (accepted.includes(`"${tag}"`)) return
  const isWeak = accepted.some(one => one.startsWith('W/'))
  throw preconditionFailed(version.record.noun, isWeak)
}
