/** The result of a call of the client: either `data` or `error`. */
type Answered<Data> = { data?: Data; error?: unknown; response: Response }

/** What an operation answers in `data`. Throws the refusal when it is one. */
export async function unwrapData<T>(answer: Promise<Answered<{ data: T }>>): Promise<T> {
  return (await unwrapAnswer(answer)).data
}

/** A whole answer, for what has more than `data`. Throws the refusal when it is one. */
export async function unwrapAnswer<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer
  if (data === undefined) throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`)
  return data
}
