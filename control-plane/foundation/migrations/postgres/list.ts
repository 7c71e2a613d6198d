import * as accounts from './0001-accounts.ts'
import * as monitors from './0002-monitors.ts'
import * as fleet from './0003-fleet.ts'
import * as alerts from './0004-alerts.ts'
import * as heartbeats from './0005-heartbeats.ts'
import * as expiry from './0006-expiry.ts'
import * as screenshots from './0007-screenshots.ts'
import * as incidents from './0008-incidents.ts'
import * as relay from './0009-relay.ts'
import * as silences from './0010-silences.ts'
import * as reminders from './0011-reminders.ts'
import * as probeCredentials from './0013-probe-credentials.ts'
import * as operator from './0014-operator.ts'
import * as canaries from './0015-canaries.ts'
import * as statusPages from './0016-status-pages.ts'
import * as pageSubscribers from './0017-page-subscribers.ts'
import * as audit from './0018-audit.ts'
import * as sessions from './0019-sessions.ts'
import * as dataSources from './0020-data-sources.ts'
import * as vendors from './0021-vendors.ts'
import * as chat from './0022-chat.ts'
import * as rehearsals from './0023-rehearsals.ts'
import * as idempotencyMarks from './0024-idempotency-marks.ts'
import * as partitionRecovery from './0026-partition-recovery.ts'
import * as tenantsApart from './0027-tenants-apart.ts'
import * as fanOuts from './0030-fan-outs.ts'
import * as pingIds from './0031-ping-ids.ts'
import * as streaksSince from './0032-streaks-since.ts'
import * as retention from './0033-retention.ts'
import * as liveProbes from './0034-live-probes.ts'
import * as imageFetches from './0036-image-fetches.ts'
import * as sourceKeys from './0036-source-keys.ts'
import * as canaryKinds from './0037-canary-kinds.ts'
import * as absentRegions from './0038-absent-regions.ts'
import * as witness from './0039-witness.ts'
import * as canaryGuarantees from './0040-canary-guarantees.ts'
import * as incidentCounts from './0040-incident-counts.ts'
import * as foreignReports from './0041-foreign-reports.ts'
import * as mailAddresses from './0042-mail-addresses.ts'
import * as eventPaces from './0043-event-paces.ts'
import * as sealedAddresses from './0044-sealed-addresses.ts'
import * as suspendedAccess from './0045-suspended-access.ts'
import * as projectChanges from './0046-project-changes.ts'
import * as searchIndexes from './0047-search-indexes.ts'
import * as monitorOrders from './0048-monitor-orders.ts'
import * as alertSilences from './0049-alert-silences.ts'
import * as views from './0050-views.ts'
import * as verdictInputs from './0052-verdict-inputs.ts'
import * as firstMonitorPolicies from './0053-first-monitor-policies.ts'
import * as maintenanceNotices from './0055-maintenance-notices.ts'
import * as incidentTexts from './0057-incident-texts.ts'
import * as wallLinks from './0058-wall-links.ts'
import * as imports from './0059-imports.ts'
import * as chatDisconnections from './0060-chat-disconnections.ts'
import * as parentsNoted from './0061-parents-noted.ts'
import * as auditOfRules from './0062-audit-of-rules.ts'
import * as maintenanceChanges from './0065-maintenance-changes.ts'
import * as pausedDataSources from './0066-paused-data-sources.ts'
import * as outageTitles from './0067-outage-titles.ts'
import * as secretKeyChecks from './0068-secret-key-checks.ts'
import * as screenshotSettings from './0069-screenshot-settings.ts'
import * as subscriberChoices from './0070-subscriber-choices.ts'
import * as dataSourceStates from './0071-data-source-states.ts'
import * as enteredOrganizations from './0072-entered-organizations.ts'
import * as outdatedStatuses from './0073-outdated-statuses.ts'
import * as expiryOrder from './0074-expiry-order.ts'
import * as pausedSources from './0075-paused-sources.ts'
import * as monitorsOfDeleted from './0076-monitors-of-deleted-organizations.ts'
import * as statusOfPausedSources from './0077-status-of-paused-sources.ts'
import * as pauseNotices from './0078-pause-notices.ts'

/** In order. A migration that was released is never edited; the next one corrects it. Names are stored in the database. */
export const MIGRATIONS = {
  '0001-accounts': accounts,
  '0002-monitors': monitors,
  '0003-fleet': fleet,
  '0004-alerts': alerts,
  '0005-heartbeats': heartbeats,
  '0006-expiry': expiry,
  '0007-screenshots': screenshots,
  '0008-incidents': incidents,
  '0009-relay': relay,
  '0010-silences': silences,
  '0011-reminders': reminders,
  '0013-probe-credentials': probeCredentials,
  '0014-operator': operator,
  '0015-canaries': canaries,
  '0016-status-pages': statusPages,
  '0017-page-subscribers': pageSubscribers,
  '0018-audit': audit,
  '0019-sessions': sessions,
  '0020-data-sources': dataSources,
  '0021-vendors': vendors,
  '0022-chat': chat,
  '0023-rehearsals': rehearsals,
  '0024-idempotency-marks': idempotencyMarks,
  '0026-partition-recovery': partitionRecovery,
  '0027-tenants-apart': tenantsApart,
  '0030-fan-outs': fanOuts,
  '0031-ping-ids': pingIds,
  '0032-streaks-since': streaksSince,
  '0033-retention': retention,
  '0034-live-probes': liveProbes,
  '0036-image-fetches': imageFetches,
  '0036-source-keys': sourceKeys,
  '0037-canary-kinds': canaryKinds,
  '0038-absent-regions': absentRegions,
  '0039-witness': witness,
  '0040-canary-guarantees': canaryGuarantees,
  '0040-incident-counts': incidentCounts,
  '0041-foreign-reports': foreignReports,
  '0042-mail-addresses': mailAddresses,
  '0043-event-paces': eventPaces,
  '0044-sealed-addresses': sealedAddresses,
  '0045-suspended-access': suspendedAccess,
  '0046-project-changes': projectChanges,
  '0047-search-indexes': searchIndexes,
  '0048-monitor-orders': monitorOrders,
  '0049-alert-silences': alertSilences,
  '0050-views': views,
  '0052-verdict-inputs': verdictInputs,
  '0053-first-monitor-policies': firstMonitorPolicies,
  '0055-maintenance-notices': maintenanceNotices,
  '0057-incident-texts': incidentTexts,
  '0058-wall-links': wallLinks,
  '0059-imports': imports,
  '0060-chat-disconnections': chatDisconnections,
  '0061-parents-noted': parentsNoted,
  '0062-audit-of-rules': auditOfRules,
  '0065-maintenance-changes': maintenanceChanges,
  '0066-paused-data-sources': pausedDataSources,
  '0067-outage-titles': outageTitles,
  '0068-secret-key-checks': secretKeyChecks,
  '0069-screenshot-settings': screenshotSettings,
  '0070-subscriber-choices': subscriberChoices,
  '0071-data-source-states': dataSourceStates,
  '0072-entered-organizations': enteredOrganizations,
  '0073-outdated-statuses': outdatedStatuses,
  '0074-expiry-order': expiryOrder,
  '0075-paused-sources': pausedSources,
  '0076-monitors-of-deleted-organizations': monitorsOfDeleted,
  '0077-status-of-paused-sources': statusOfPausedSources,
  '0078-pause-notices': pauseNotices,
}
