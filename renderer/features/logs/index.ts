/** The parts that other features may use. */
export type { LogLine } from './log-line.ts'
export { LogPanel } from './log-panel.tsx'
export { createLogStore } from './log-store.ts'
export { TargetSelects } from './target-selects.tsx'
