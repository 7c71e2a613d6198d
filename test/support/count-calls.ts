/** `client` with one method whose calls are counted. */
export function countCalls<T extends object>(client: T, method: keyof T & string): { client: T; calls(): number } {
  let calls = 0
  const call = client[method] as (...args: unknown[]) => unknown
  const counting = (...args: unknown[]) => {
    calls++
    return call.apply(client, args)
  }
  return { client: Object.create(client, { [method]: { value: counting } }) as T, calls: () => calls }
}
