import { renderHtml } from '../../foundation/web/html/render.ts'
import { ASSETS } from '../assets.ts'
import { DEFAULT_SIZE, Wall } from './wall.tsx'
import type { WallData } from './wall-data.ts'

/** The elements that contain the data, and the page. */
const WALL_STATE_ID = 'wall-state'
const WALL_ROOT_ID = 'wall'

/** Renders the page of a wallboard. `nowMs`: the time at which it is sent. `build`: of the server. */
export function renderWallPage(data: WallData, nowMs: number, build: string): string {
  const head = renderHtml(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <meta name="color-scheme" content="dark" />
      <meta name="robots" content="noindex" />
      <title>{`${data.name} · Picket`}</title>
      <link rel="icon" href="data:," />
      {ASSETS.wallStyle && <link rel="stylesheet" href={ASSETS.wallStyle} />}
      {ASSETS.wallScript && <script type="module" src={ASSETS.wallScript} />}
    </>,
  )
  const ageMs = nowMs - Date.parse(data.at)
  const wall = <Wall data={data} nowMs={nowMs} timeZone="UTC" ageMs={ageMs} size={DEFAULT_SIZE} />
  const state = JSON.stringify({ data, nowMs, build }).replaceAll('<', '\\u003c')
  return [
    `<!doctype html><html lang="en" data-theme="dark"><head>${head}</head>`,
    `<body><div id="${WALL_ROOT_ID}">${renderHtml(wall)}</div>`,
    `<script type="application/json" id="${WALL_STATE_ID}">${state}</script></body></html>`,
  ].join('')
}
