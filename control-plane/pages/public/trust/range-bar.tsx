import type { Percentiles } from '../../../insight/canaries/measurement/statistics-store.ts'

type RangeParts = { limit: number; most: number; message: Percentiles | null }

/**
 * The figures of a row as lengths, up to the largest of all rows (`most`). Decorative: the table has the same figures.
 */
export function RangeBar({ limit, most, message }: RangeParts) {
  const width = (seconds: number | null) => `${((Math.min(seconds ?? most, most) / most) * 100).toFixed(2)}%`
  return (
    <svg class="range" aria-hidden="true">
      <rect class="track" y="2" height="10" rx="5" width={width(limit)} />
      {message && (
        <>
          <rect class="nearly" y="2" height="10" rx="5" width={width(message.p99)} />
          <rect class="most" y="2" height="10" rx="5" width={width(message.p95)} />
          <rect class="half" y="2" height="10" rx="5" width={width(message.p50)} />
        </>
      )}
      <line class="limit" x1={width(limit)} x2={width(limit)} y1="0" y2="14" />
    </svg>
  )
}
