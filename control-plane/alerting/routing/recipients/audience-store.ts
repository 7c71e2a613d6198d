import { groupBy } from '../../../../shared/group-by.ts'
import { query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { parseMonitorSubject, parseVendorSubject } from '../../events/catalog.ts'
import type { StoredOverride } from '../rules/dependency-override.ts'
import { OVERRIDE_COLUMNS } from '../rules/dependency-override-store.ts'
import { RULE_COLUMNS, type StoredRule } from '../rules/rule-store.ts'
import { getAlertType, type StoredSubscription } from '../rules/subscription.ts'
import { SUBSCRIPTION_COLUMNS } from '../rules/subscription-store.ts'
import { type AudiencePart, type AudiencePosition, cutAudiencePart } from './audience.ts'
import { isDirectMessageEvent } from './direct-recipients.ts'
import { loadDirectRecipients } from './direct-recipients-store.ts'

/**
 * The next part of the audience at each position: rules for events of monitors, subscriptions for all other events and
 * overrides for those of vendors, at most `limit` of each. Each kind is read with one statement for all positions.
 */
export async function loadAudienceParts(tx: Tx, positions: AudiencePosition[], limit: number): Promise<AudiencePart[]> {
  const monitorRanges = toRanges(positions, ({ event }) => parseMonitorSubject(event.subject))
  const dependencyRanges = toRanges(positions, ({ event }) => parseVendorSubject(event.subject))
  const projectRanges = toRanges(positions, ({ event }) => getAlertType(event.name) && event.projectId)
  const rules = await read<StoredRule>(tx, RULES, monitorRanges, limit)
  const overrides = await read<StoredOverride>(tx, OVERRIDES, dependencyRanges, limit)
  const subscriptions = await read<StoredSubscription>(tx, SUBSCRIPTIONS, projectRanges, limit)
  const projectIds = positions.flatMap(({ event }) => (isDirectMessageEvent(event.name) ? event.projectId : []))
  const people = groupBy(await loadDirectRecipients(tx, [...new Set(projectIds)]), one => one.projectId)
  return positions.map(({ event, after }, place) =>
    cutAudiencePart(
      {
        rules: rules.get(place) ?? [],
        overrides: overrides.get(place) ?? [],
        subscriptions: subscriptions.get(place) ?? [],
        people: people.get(event.projectId) ?? [],
      },
      after,
      limit,
    ),
  )
}

type Range = { place: number; owner: string; type: string | null; after: string }

/** Sorts before every id. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

function toRanges(positions: AudiencePosition[], getOwner: (position: AudiencePosition) => string | null): Range[] {
  return positions.flatMap((one, place) => {
    const owner = getOwner(one)
    return owner === null ? [] : { place, owner, type: getAlertType(one.event.name), after: one.after ?? NIL_UUID }
  })
}

const RANGES = `jsonb_to_recordset(:ranges::jsonb) AS r (place integer, owner uuid, type text, after uuid)`

const RULES = `
  SELECT r.place, rule.* FROM ${RANGES}, LATERAL (
    SELECT ${RULE_COLUMNS} FROM alert_rules WHERE monitor_id = r.owner AND alert_channel_id > r.after
    ORDER BY alert_channel_id LIMIT :limit
  ) rule ORDER BY r.place, rule."alertChannelId"`

const OVERRIDES = `
  SELECT r.place, one.* FROM ${RANGES}, LATERAL (
    SELECT ${OVERRIDE_COLUMNS} FROM dependency_overrides WHERE dependency_id = r.owner AND alert_channel_id > r.after
    ORDER BY alert_channel_id LIMIT :limit
  ) one ORDER BY r.place, one."alertChannelId"`

const SUBSCRIPTIONS = `
  SELECT r.place, one.* FROM ${RANGES}, LATERAL (
    SELECT ${SUBSCRIPTION_COLUMNS} FROM alert_subscriptions
    WHERE project_id = r.owner AND alert_type = r.type AND alert_channel_id > r.after
    ORDER BY alert_channel_id LIMIT :limit
  ) one ORDER BY r.place, one."alertChannelId"`

async function read<Row>(tx: Tx, sql: string, ranges: Range[], limit: number): Promise<Map<number, Row[]>> {
  if (ranges.length === 0) return new Map()
  const rows = await query<Row & { place: number }>(tx, sql, { ranges: JSON.stringify(ranges), limit })
  return groupBy(rows, row => row.place)
}
