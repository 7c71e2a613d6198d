import type { ProjectFile } from '../../../../deploy/client/index.ts'
import type { DataQuery } from '../operations.ts'
import type { Queries, Screen } from '../screen.ts'

/** A section of a project file (docs/import-export.md). */
type FileSection = Exclude<keyof ProjectFile, 'version'>

/**
 * What a project file contains of a page or of a form. `id` null: a new record, or all records of the section. `body`: what a
 * form changes; null for a page. `isDeletion`: the form deletes the record.
 */
export type ProjectEntry = {
  section: FileSection
  id: string | null
  body: Record<string, unknown> | null
  isDeletion?: boolean
}

/** By what the name of an operation says after its verb. */
const SECTIONS: Record<string, FileSection> = {
  AlertSettings: 'alert_settings',
  AlertChannel: 'alert_channels',
  AlertChannels: 'alert_channels',
  Monitor: 'monitors',
  Monitors: 'monitors',
  MonitorBoard: 'monitors',
  MonitorParents: 'monitors',
  MaintenanceWindow: 'maintenance_windows',
  MaintenanceWindows: 'maintenance_windows',
  DataSource: 'data_sources',
  DataSources: 'data_sources',
  Dependency: 'dependencies',
  Dependencies: 'dependencies',
  StatusPage: 'status_pages',
  StatusPages: 'status_pages',
}

/** Records that are in the entries of others. */
const PARTS: Record<string, FileSection> = {
  AlertRule: 'monitors',
  AlertProjectChannel: 'alert_channels',
  StatusPageComponent: 'status_pages',
  StatusPageComponents: 'status_pages',
  StatusPageGroup: 'status_pages',
}

/** Operations on a monitor that a field of the file does too. */
const PAUSES: Record<string, { is_paused: boolean }> = {
  pauseMonitor: { is_paused: true },
  resumeMonitor: { is_paused: false },
}

/** What a project file contains of the record that a call is about. Returns null for records that are not in the file. */
export function toProjectEntry({ name, arguments: args }: DataQuery): ProjectEntry | null {
  const noun = name.replace(/^(create|update|read|list|delete|order|change)/, '')
  if (PARTS[noun] || name === 'changeMonitors') return { section: PARTS[noun] ?? 'monitors', id: null, body: null }
  const section = SECTIONS[noun]
  const pausing = PAUSES[name]
  if (!section && !pausing) return null
  const { path, body = null } = args as { path?: { id?: string }; body?: Record<string, unknown> }
  return {
    section: section ?? 'monitors',
    id: path?.id ?? null,
    body: pausing ?? body,
    ...(name.startsWith('delete') && { isDeletion: true }),
  }
}

/** What a project file contains of a page: its record, or else the list that it shows. */
export function findPageEntry({ record }: Pick<Screen, 'record'>, queries: Queries): ProjectEntry | null {
  if (record) return toProjectEntry(queries[record]!)
  const entries = Object.values(queries).map(toProjectEntry)
  return entries.find(entry => entry !== null) ?? null
}

/** The section with one entry: what is stored, and over it what a form sends. Without `null`: the field then has its default. */
export function buildSection({ section, id, body }: ProjectEntry, stored: object | null): Record<string, unknown> {
  const fields = { ...stored, ...toFileFields(section, body ?? {}) }
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
  return { [section]: section === 'alert_settings' ? set : [{ ...(id && { id }), ...set }] }
}

/** The alert settings that the file contains. */
const FILE_SETTINGS = ['is_digest_enabled', 'digest_threshold']

/** The fields of a body with the names of the file. A file refers to records by name or id. */
function toFileFields(section: FileSection, body: Record<string, unknown>): Record<string, unknown> {
  if (section === 'alert_settings')
    return Object.fromEntries(Object.entries(body).filter(([name]) => FILE_SETTINGS.includes(name)))
  const { monitor_ids: monitors, parent_ids: parents, overrides, ...fields } = body
  return {
    ...fields,
    ...(monitors !== undefined && { monitors }),
    ...(parents !== undefined && { parents }),
    ...(overrides !== undefined && toOverrides(overrides)),
    ...(section === 'status_pages' && fields.components !== undefined && toComponents(fields.components)),
  }
}

const toComponents = (components: unknown) => ({
  components: (components as { monitor_id?: string | null }[]).map(({ monitor_id: monitor, ...rest }) => ({
    ...rest,
    ...(monitor != null && { monitor }),
  })),
})

const toOverrides = (overrides: unknown) => ({
  overrides: (overrides as { alert_channel_id: string }[]).map(({ alert_channel_id: channel, ...on }) => ({
    channel,
    ...on,
  })),
})
