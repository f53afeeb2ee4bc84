import type { Bridge } from '../../../preload/bridge.ts'
import { useOffered } from '../../api/offered.ts'

/** Opens the desktop's own folder dialog; null where there is none, or where the instance is not this machine. */
export function useFolderPicker(): Bridge['chooseFolder'] | null {
  const { is_here } = useOffered()
  return is_here && window.homeport ? window.homeport.chooseFolder : null
}
