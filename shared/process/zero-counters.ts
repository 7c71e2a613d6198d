/**
 * Makes a counter show each of these values of a label from the start. One that appears with its first event has no growth
 * that an alert rule could see.
 */
export function initializeCounter<L extends string, C extends { inc(labels: Record<L, string>, by: number): void }>(
  counter: C,
  label: L,
  values: readonly string[],
): C {
  for (const value of values) counter.inc({ [label]: value } as Record<L, string>, 0)
  return counter
}
