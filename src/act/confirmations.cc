#include "act/confirmations.h"

#include "model/describe.h"

namespace leasehold::act {

using model::Described;
using model::field;
using model::fields_of;
using model::Type;

Described describe(Type<Released>) {
  static constexpr auto fields = fields_of<Released>({
      field<&Released::released>("released").means("it is released, perhaps since an earlier call"),
      field<&Released::name>("name"),
      field<&Released::token>("token"),
  });
  return {"Released", fields};
}

Described describe(Type<Removed>) {
  static constexpr auto fields = fields_of<Removed>({
      field<&Removed::removed>("removed").means("it is gone"),
      field<&Removed::name>("name"),
  });
  return {"Removed", fields};
}

Described describe(Type<JobChanged>) {
  static constexpr auto fields = fields_of<JobChanged>({
      field<&JobChanged::id>("id").means("the job's id"),
      field<&JobChanged::state>("state"),
  });
  return {"JobChanged", fields};
}

Described describe(Type<JobRemoved>) {
  static constexpr auto fields = fields_of<JobRemoved>({
      field<&JobRemoved::removed>("removed").means("it is gone"),
      field<&JobRemoved::id>("id").means("the job's id"),
  });
  return {"JobRemoved", fields};
}

Described describe(Type<JobsRedriven>) {
  static constexpr auto fields = fields_of<JobsRedriven>({
      field<&JobsRedriven::redriven>("redriven").means("how many dead letters are available again"),
  });
  return {"JobsRedriven", fields};
}

Described describe(Type<QueuePurged>) {
  static constexpr auto fields = fields_of<QueuePurged>({
      field<&QueuePurged::name>("name"),
      field<&QueuePurged::purged>("purged").means("how many waiting jobs were cancelled"),
  });
  return {"QueuePurged", fields};
}

Described describe(Type<ChunkSkipped>) {
  static constexpr auto fields = fields_of<ChunkSkipped>({
      field<&ChunkSkipped::set>("set"),
      field<&ChunkSkipped::key>("key").means("the chunk's key, unique in its set"),
      field<&ChunkSkipped::state>("state"),
  });
  return {"ChunkSkipped", fields};
}

Described describe(Type<ChunkSetRemoved>) {
  static constexpr auto fields = fields_of<ChunkSetRemoved>({
      field<&ChunkSetRemoved::removed>("removed").means("it is gone"),
      field<&ChunkSetRemoved::name>("name"),
      field<&ChunkSetRemoved::chunks>("chunks").means("how many chunks it had"),
  });
  return {"ChunkSetRemoved", fields};
}

Described describe(Type<ItemAdded>) {
  static constexpr auto fields = fields_of<ItemAdded>({
      field<&ItemAdded::key>("key").means("the item's key"),
      field<&ItemAdded::created>("created").means("whether the item is new"),
  });
  return {"ItemAdded", fields};
}

Described describe(Type<ItemChanged>) {
  static constexpr auto fields = fields_of<ItemChanged>({
      field<&ItemChanged::key>("key").means("the item's key"),
      field<&ItemChanged::state>("state"),
  });
  return {"ItemChanged", fields};
}

Described describe(Type<ItemNoted>) {
  static constexpr auto fields = fields_of<ItemNoted>({
      field<&ItemNoted::noted>("noted").means("the note stays with the item"),
      field<&ItemNoted::key>("key").means("the item's key"),
  });
  return {"ItemNoted", fields};
}

Described describe(Type<ItemRemoved>) {
  static constexpr auto fields = fields_of<ItemRemoved>({
      field<&ItemRemoved::removed>("removed").means("it is gone"),
      field<&ItemRemoved::key>("key").means("the item's key"),
  });
  return {"ItemRemoved", fields};
}

Described describe(Type<ClaimReleased>) {
  static constexpr auto fields = fields_of<ClaimReleased>({
      field<&ClaimReleased::released>("released").means("it is released, perhaps since an earlier call"),
      field<&ClaimReleased::key>("key").means("the item's key"),
      field<&ClaimReleased::token>("token").if_any(),
  });
  return {"ClaimReleased", fields};
}

Described describe(Type<PathsReleased>) {
  static constexpr auto fields = fields_of<PathsReleased>({
      field<&PathsReleased::session>("session"),
      field<&PathsReleased::released>("released").means("how many paths the session had"),
  });
  return {"PathsReleased", fields};
}

Described describe(Type<Triggered>) {
  static constexpr auto fields = fields_of<Triggered>({
      field<&Triggered::name>("name"),
      field<&Triggered::held_by>("held_by").means("the lease of the current run, which ends first"),
  });
  return {"Triggered", fields};
}

}  // namespace leasehold::act
