/** Who hears of something; a listener that answers false hears no more. */
export type Topic<T> = { publish: (value: T) => void; subscribe: (listener: (value: T) => boolean) => void }

export function createTopic<T>(): Topic<T> {
  let listeners: ((value: T) => boolean)[] = []
  return {
    subscribe: listener => void listeners.push(listener),
    publish(value) {
      const before = listeners
      const kept = before.filter(listener => listener(value))
      // what was added meanwhile stays
      listeners = [...kept, ...listeners.slice(before.length)]
    },
  }
}
