import { groupBy } from '../../../../shared/group-by.ts'

type DependencyPair = { monitorId: string; parentId: string }
type Edge = readonly [from: string, to: string]

/** The monitors that depend on themselves, through however many others. */
export function findCyclicMonitors(pairs: readonly DependencyPair[]): Set<string> {
  const upwards = removeAcyclicEdges(pairs.map(({ monitorId, parentId }) => [monitorId, parentId]))
  const downwards = removeAcyclicEdges(upwards.map(([monitorId, parentId]) => [parentId, monitorId]))
  return new Set(downwards.flat())
}

/** The edges that can be followed for ever. */
function removeAcyclicEdges(edges: readonly Edge[]): Edge[] {
  const ways = new Map<string, number>()
  for (const [from] of edges) ways.set(from, (ways.get(from) ?? 0) + 1)
  const into = groupBy(edges, ([, to]) => to)
  const ends = new Set(edges.flatMap(([, to]) => (ways.has(to) ? [] : [to])))
  // the set grows while it is walked over
  for (const end of ends) {
    for (const [from] of into.get(end) ?? []) {
      const left = ways.get(from)! - 1
      ways.set(from, left)
      if (left === 0) ends.add(from)
    }
  }
  return edges.filter(edge => !edge.some(id => ends.has(id)))
}
