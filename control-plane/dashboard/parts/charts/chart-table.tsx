import type { ComponentChildren } from 'preact'
import { Scroll } from '../layout/section.tsx'

export type Column<Row> = { name: string; isNumber?: boolean; show(row: Row): ComponentChildren }

/** The figures behind a chart. */
export const ChartTable = <Row,>({
  rows,
  columns,
  getKey,
}: {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  getKey(row: Row): string
}) => (
  <details class="figures">
    <summary>Figures</summary>
    <Scroll name="Figures">
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={getKey(row)}>
              {columns.map(({ name, isNumber, show }) => (
                <td key={name} class={isNumber ? 'number' : 'nowrap'}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </details>
)
