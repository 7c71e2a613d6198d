import type { TemplateName } from '../../core/types.ts'
import type { PageTemplate } from '../template.ts'
import { brand } from './brand.tsx'
import { clean } from './clean.tsx'
import { developer } from './developer.tsx'
import { minimal } from './minimal.tsx'
import { modern } from './modern.tsx'
import { terminal } from './terminal.tsx'

/** All templates. The CSS of each is the file of the same name in `styles`. */
export const TEMPLATES: Record<TemplateName, PageTemplate> = { minimal, brand, terminal, modern, clean, developer }
