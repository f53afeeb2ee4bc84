/** What other features may use. */
export { ShortcutList } from './shortcuts-dialog.tsx'
