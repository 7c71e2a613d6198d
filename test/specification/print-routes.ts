/** Prints docs/routes.md: a process of its own, because a bundle has no stack frames of the sources. */
import { makeRoutesPage } from './routes.ts'

console.log(JSON.stringify(await makeRoutesPage()))
