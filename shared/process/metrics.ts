import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** One registry per process. Names begin with `picket_` and contain the unit. */
export type Metrics = {
  counter<L extends string = never>(name: string, help: string, labels?: L[]): Counter<L>
  gauge<L extends string = never>(name: string, help: string, labels?: L[]): Gauge<L>
  histogram<L extends string = never>(name: string, help: string, buckets: number[], labels?: L[]): Histogram<L>
  /** Registers a function that sets gauges before each exposition. */
  beforeRender(measure: () => void): void
  /** The exposition text and its content type. */
  render(): Promise<{ text: string; contentType: string }>
}

/** Sampling interval of the event loop lag. Each sample wakes up the process: four a second, of some twenty when it is idle. */
const LAG_INTERVAL_MS = 250

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS })
  const registers = [registry]
  const measures: (() => void)[] = []
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers }),
    gauge: (name, help, labels = []) => new Gauge({ name, help, labelNames: labels, registers }),
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({ name, help, buckets, labelNames: labels, registers }),
    beforeRender: measure => void measures.push(measure),
    async render() {
      for (const measure of measures) measure()
      return { text: await registry.metrics(), contentType: registry.contentType }
    },
  }
}
