/** The parts that other features may use. */
export { ShortcutList } from './shortcuts-dialog.tsx'
