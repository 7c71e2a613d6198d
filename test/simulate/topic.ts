/** The listeners of an event; one that returns false is removed. */
export type Topic<T> = { publish: (value: T) => void; subscribe: (listener: (value: T) => boolean) => void }

export function createTopic<T>(): Topic<T> {
  let listeners: ((value: T) => boolean)[] = []
  return {
    subscribe: listener => void listeners.push(listener),
    publish(value) {
      const before = listeners
      const kept = before.filter(listener => listener(value))
      // listeners that were added meanwhile remain
      listeners = [...kept, ...listeners.slice(before.length)]
    },
  }
}
