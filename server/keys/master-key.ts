/** Where the master key comes from. The desktop brings the keychain; without one it is a file. */
export interface MasterKey {
  kind: 'keychain' | 'file_key'
  /** 32 bytes; made at the first call. */
  read(): Promise<Uint8Array>
}
