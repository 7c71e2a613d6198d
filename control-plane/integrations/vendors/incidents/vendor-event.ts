import { type EventRow, toVendorSubject } from '../../../alerting/events/catalog.ts'
import type { Dependency } from '../types.ts'
import type { VendorChange } from './report-changes.ts'

/** Builds the event that announces a change of a vendor's incident. */
export function buildVendorEvent(
  id: string,
  dependency: Dependency,
  { name, incident }: VendorChange,
  now: Date,
): EventRow {
  const { title, severity, status, sourceUrl } = incident
  return {
    id,
    projectId: dependency.projectId,
    name,
    subject: toVendorSubject(dependency.id),
    data: {
      vendor: { name: dependency.name, category: dependency.category },
      incident: { title, severity, status, source_url: sourceUrl },
    },
    occurredAt: now,
  }
}
