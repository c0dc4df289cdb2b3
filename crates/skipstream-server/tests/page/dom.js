// As much of a document as the page's functions need to make elements, and those elements as text.

class Element {
  constructor(name) {
    this.name = name;
    this.attributes = new Map();
    this.children = [];
    this.style = {};
    this.classList = { add: (...names) => this.attributes.set("class", names.join(" ")) };
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  append(...children) {
    this.children.push(...children);
  }

  toString() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${value}"`);
    return `<${this.name}${attributes.join("")}>${this.children.join("")}</${this.name}>`;
  }
}

globalThis.Node = Element;
globalThis.document = { createElement: (name) => new Element(name) };
