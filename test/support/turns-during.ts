/** Returns the result of some work, and how many turns the event loop made in the meantime. */
export async function countTurns<T>(work: () => Promise<T>): Promise<{ answer: T; turns: number }> {
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
