/** The result of a call of the client: either `data` or `error`. */
type Answered<Data> = { data?: Data; error?: unknown; response: Response }

/** Returns the `data` of a response. Throws its error. */
export async function dataOf<T>(answer: Promise<Answered<{ data: T }>>): Promise<T> {
  return (await answerOf(answer)).data
}

/** Returns the complete response body. Throws its error. */
export async function answerOf<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer
  if (data === undefined) throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`)
  return data
}
