/**
 * Initializes a counter with 0 for each value of a label. Otherwise a series appears with its first event, and an alert rule
 * on its increase does not detect that event.
 */
export function initializeCounter<L extends string, C extends { inc(labels: Record<L, string>, by: number): void }>(
  counter: C,
  label: L,
  values: readonly string[],
): C {
  for (const value of values) counter.inc({ [label]: value } as Record<L, string>, 0)
  return counter
}
