/** The end of a step. `isDone` false: the step is left out. */
export const NextStep = ({ path, text, isDone }: { path: string; text: string; isDone: boolean }) => (
  <p class="next-step">
    <a class={isDone ? 'button main' : undefined} href={path}>
      {isDone ? text : 'Skip this step'}
    </a>
  </p>
)
