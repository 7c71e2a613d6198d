import { type EventRow, subjectOfVendor } from '../events/catalog.ts'
import type { VendorNews } from './follow.ts'
import type { Dependency } from './types.ts'

/** The event that something about a vendor is told by (specification, "Data of vendor events"). */
export function vendorEvent(id: string, dependency: Dependency, { name, incident }: VendorNews, now: Date): EventRow {
  const { title, severity, status, sourceUrl } = incident
  return {
    id,
    projectId: dependency.projectId,
    name,
    subject: subjectOfVendor(dependency.id),
    data: {
      vendor: { name: dependency.name, category: dependency.category },
      incident: { title, severity, status, source_url: sourceUrl },
    },
    occurredAt: now,
  }
}
