// page.ts: one conversation, drawn block by block.
import {
  type BlockState, ConversationFeed, DirectLink, Gateway, newKey, plainText,
} from "@blockwire/core";

const gateway = new Gateway({ baseUrl: "http://127.0.0.1:7890" });
const { id } = await gateway.createConversation();
const feed = new ConversationFeed(gateway, new DirectLink(gateway), id);
const shown = new Map<string, { block: BlockState; element: HTMLElement }>();

function drawBlock(parent: HTMLElement, block: BlockState): void {
  const old = shown.get(block.id);
  if (old?.block === block) return; // what did not change is the same object
  const element = old?.element ?? parent.appendChild(document.createElement("p"));
  if (old !== undefined && block.continues(old.block)) {
    element.append(block.textSince(old.block.length)); // costs what is new
  } else {
    element.textContent = plainText(block); // text, never innerHTML
  }
  shown.set(block.id, { block, element });
}

function draw(): void {
  for (const message of feed.state.messages()) {
    let article = document.getElementById(message.id);
    if (article === null) {
      article = document.body.appendChild(document.createElement("article"));
      article.id = message.id;
      article.dir = "auto";
    }
    article.className = message.role;
    for (const block of message.blocks) drawBlock(article, block);
  }
  document.title = feed.status.kind;
}

feed.subscribe(draw);
draw();
addEventListener("online", () => feed.wake());
await gateway.submit(id, { content: "What is a fold?" }, newKey());
