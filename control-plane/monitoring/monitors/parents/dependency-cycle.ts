import { groupBy } from '../../../../shared/group-by.ts'

type DependencyPair = { monitorId: string; parentId: string }
type Edge = readonly [from: string, to: string]

/** Finds the monitors that depend on themselves, directly or through others. */
export function findCyclicMonitors(pairs: readonly DependencyPair[]): Set<string> {
  const upwards = removeAcyclicEdges(pairs.map(({ monitorId, parentId }) => [monitorId, parentId]))
  const downwards = removeAcyclicEdges(upwards.map(([monitorId, parentId]) => [parentId, monitorId]))
  return new Set(downwards.flat())
}

/** Returns the edges that lead into a cycle. */
function removeAcyclicEdges(edges: readonly Edge[]): Edge[] {
  const outgoing = new Map<string, number>()
  for (const [from] of edges) outgoing.set(from, (outgoing.get(from) ?? 0) + 1)
  const into = groupBy(edges, ([, to]) => to)
  const ends = new Set(edges.flatMap(([, to]) => (outgoing.has(to) ? [] : [to])))
  // the set grows during the iteration
  for (const end of ends) {
    for (const [from] of into.get(end) ?? []) {
      const left = outgoing.get(from)! - 1
      outgoing.set(from, left)
      if (left === 0) ends.add(from)
    }
  }
  return edges.filter(edge => !edge.some(id => ends.has(id)))
}
