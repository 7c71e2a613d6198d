import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../foundation/web/validation/schemas.ts'
import type { ListedScreenshot } from './store.ts'

/** A screenshot as the API shows it. */
export const ScreenshotRecord = Type.Object(
  {
    id: Id,
    monitor_id: Id,
    region: Type.String(),
    taken_in: Type.String({
      description: 'The region of the probe that took the screenshot. Not every probe has a browser.',
    }),
    kind: stringEnum(['failure', 'comparison', 'baseline']),
    scheduled_at: Timestamp,
    attempt: Type.Integer(),
    difference: nullable(Type.Number({ description: 'Difference from the baseline, as a share of the pixels.' })),
    url: Type.String({ description: 'A link that needs no API key and is valid for an hour.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Screenshot' },
)

export function toScreenshotResponse(screenshot: ListedScreenshot, url: string) {
  return {
    id: screenshot.id,
    monitor_id: screenshot.monitorId,
    region: screenshot.region,
    taken_in: screenshot.takenIn,
    kind: screenshot.isBaseline ? ('baseline' as const) : screenshot.kind,
    scheduled_at: screenshot.scheduledAt,
    attempt: screenshot.attempt,
    difference: screenshot.difference,
    url,
    created_at: screenshot.createdAt,
    updated_at: screenshot.createdAt,
  }
}
