/** The result of `work`, and the number of event loop turns meanwhile. */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ answer: T; turns: number }> {
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const answer = await work()
  isDone = true
  return { answer, turns }
}
