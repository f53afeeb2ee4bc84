/** An element of a `SlotSet`: its place in it, or -1. It can be in one at a time. */
export interface Slotted {
  slot: number
}

/**
 * A set for objects that come and go all the time. A `Set` replaces its table every few dozen changes, and in V8 each old table refers to the next one, so
 * that one of them in the old generation keeps everything that was ever in the set until the next full collection.
 */
export class SlotSet<T extends Slotted> {
  readonly #elements: T[] = []

  get size(): number {
    return this.#elements.length
  }

  has(element: T): boolean {
    return element.slot >= 0 && this.#elements[element.slot] === element
  }

  add(element: T): void {
    if (this.has(element)) return
    element.slot = this.#elements.length
    this.#elements.push(element)
  }

  delete(element: T): void {
    if (!this.has(element)) return
    const { slot } = element
    const last = this.#elements.pop() as T
    if (last !== element) {
      this.#elements[slot] = last
      last.slot = slot
    }
    element.slot = -1
  }

  /** The elements of now, without those that are removed before their turn. */
  *values(): Generator<T> {
    for (const element of this.#elements.slice()) if (this.has(element)) yield element
  }
}
