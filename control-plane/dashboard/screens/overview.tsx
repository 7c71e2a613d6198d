import { read } from '../core/operations.ts'
import { screen } from '../core/screen.ts'

export const overviewScreen = screen({
  path: '/',
  area: 'overview',
  queries: () => ({ summary: read('readAnalyticsSummary', {}) }),
  title: () => 'Overview',
  Body: ({ results }) => <h1>{results.summary.data?.data.monitors.total}</h1>,
})
