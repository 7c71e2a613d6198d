import type { Plugin } from 'esbuild'

export function makeDashboardAssets(): Promise<{
  files: Record<string, { contentType: string; base64: string }>
  script: string
  style: string
  everywhere: string[]
  later: string[][]
  inputs: string[]
}>
export function dashboardInputs(): Promise<string[]>
export const dashboardAssets: Plugin
